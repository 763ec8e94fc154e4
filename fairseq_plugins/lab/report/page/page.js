"use strict";
// Tables sort by a click on a column's head: numbers downwards first, words upwards, empty last.
(() => {
  const numberOf = (cell) => Number(cell.dataset.value);
  // What is cited below an empty value does not fill the cell.
  const mainOf = (cell) => (cell.querySelector(".main") || cell).textContent.trim();
  const isEmpty = (cell) => ["", "\u2013", "\u2014", "-"].includes(mainOf(cell));
  const words = new Intl.Collator("en", { numeric: true });

  function sort(table, column, up) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, cell: row.cells[column] }));
    const full = rows.filter(({ cell }) => cell && !isEmpty(cell));
    const empty = rows.filter(({ cell }) => !cell || isEmpty(cell));
    const numbers = full.every(({ cell }) => !Number.isNaN(numberOf(cell)));
    const compare = numbers
      ? (a, b) => (numberOf(a.cell) > numberOf(b.cell)) - (numberOf(a.cell) < numberOf(b.cell))
      : (a, b) => words.compare(a.cell.textContent, b.cell.textContent);
    full.sort((a, b) => (up ? compare(a, b) : compare(b, a)));
    body.append(...[...full, ...empty].map(({ row }) => row));
  }

  function makeSortable(table) {
    const heads = table.tHead && table.tBodies[0] ? [...table.tHead.rows[0].cells] : [];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      const arrow = document.createElement("span");
      arrow.className = "arrow";
      arrow.setAttribute("aria-hidden", "true");
      const small = button.querySelector("small");
      button.insertBefore(arrow, small);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const cells = [...table.tBodies[0].rows].map((row) => row.cells[column]);
        const numbers = cells.every((cell) => !cell || isEmpty(cell) || !Number.isNaN(numberOf(cell)));
        const up = now === "none" ? !numbers : now === "descending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table, column, up);
      });
    });
  }

  // What does not fit fades out at its right edge, below a line that says so.
  function showWidth(block) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.setAttribute("aria-hidden", "true");
    hint.textContent = "more columns: scroll sideways \u2192";
    block.before(hint);
    const look = () => {
      const hidden = block.scrollWidth - block.clientWidth;
      hint.hidden = hidden < 2;
      block.classList.toggle("more", hidden - block.scrollLeft >= 2);
    };
    block.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(block);
    look();
  }

  async function copy(button, text) {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(text);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  }

  function addCopy(block) {
    const text = block.querySelector("pre");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", () => copy(button, text));
    text.before(button);
  }

  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let inner = target; inner; inner = inner.parentElement) {
      if (inner.tagName === "DETAILS") inner.open = true;
    }
  }

  document.querySelectorAll("table").forEach(makeSortable);
  document.querySelectorAll(".scroll").forEach(showWidth);
  document.querySelectorAll(".command").forEach(addCopy);
  if (matchMedia("(max-width: 68rem)").matches) document.getElementById("contents").open = false;
  addEventListener("hashchange", openTarget);
  openTarget();
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not(.command)").forEach((block) => { block.open = true; });
  });
})();
