/** The outcome of one request of a group that was carried out: a server may reject some of its writes. */
export type GroupedOutcome<Result> = { readonly result: Result } | { readonly error: Error };

/** @throws the error of this request */
export function resultOf<Result>(outcome: GroupedOutcome<Result>): Result {
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}
