// Pages that are opened as files may start no worker, which searches: a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      const told = (target, kind, data) => target.dispatchEvent(new kind("message", { data }));
      // inside, what is posted goes to whoever made this worker
      inner.postMessage = (data) => setTimeout(() => told(this, MessageEvent, data));
      this.ready = new Promise((begin) => {
        const script = inner.document.createElement("script");
        script.src = new URL(url, location.href);
        script.onload = begin;
        inner.document.body.append(script);
      });
      this.inner = inner;
      this.told = told;
    }

    postMessage(data) {
      this.ready.then(() => this.told(this.inner, this.inner.MessageEvent, data));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
