const RESULTS_MAX = 1000;

/** Keeps the results of a function. If a caller passes too many different texts, all results are dropped. */
export function cached(compute: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>();
  return (text) => {
    let result = results.get(text);
    if (result === undefined) {
      result = compute(text);
      if (results.size === RESULTS_MAX) results.clear();
      results.set(text, result);
    }
    return result;
  };
}
