# Read by scripts/run_example_table.sh before its table: answers of Models 1 to 3 together, by the paper's
# rule, in either wiring. Adds to ${options[@]}.
for runs in "${folders[@]}"; do
    for wiring in "" query_; do
        members=()
        for model in model1 model2 model3; do
            for run in "$runs/$wiring$model"_*/*/seed1; do
                if [ -f "$run/result.json" ] && [ -f "$run/checkpoint_best.pt" ]; then members+=("$run"); break; fi
            done
        done
        if [ ${#members[@]} -lt 3 ]; then continue; fi
        answers="$runs/${wiring}ensemble_answers" path="$(IFS=:; printf '%s' "${members[*]}")"
        if [ ! -f "$answers/metrics.json" ] || [ "$answers/metrics.json" -ot "${members[0]}/result.json" ]; then
            "$python" "$root/scripts/predict_squad.py" --path "$path" --ensemble paper --split valid --output-dir "$answers" >&2
        fi
        options+=(--ensemble "$answers")
    done
done
