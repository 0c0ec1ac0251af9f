/** The fairness options of a start, as callers give them. */
import { toFairnessWeight, type StartFairness } from '../../engine/model/start-options.js';
import { toLimitKey } from '../../engine/values/convert-input.js';
import { AppError } from '../../base/errors.js';

/**
 * @param fairnessKey empty: none, whatever the definition says
 * @throws AppError `invalid_request`
 */
export function toStartFairness({
  fairnessKey,
  fairnessWeight,
}: {
  readonly fairnessKey?: string | undefined;
  readonly fairnessWeight?: number | undefined;
}): StartFairness {
  const key = fairnessKey === '' ? null : fairnessKey;
  const text = key == null ? null : toLimitKey(key);
  if (text?.ok === false) throw invalid('fairnessKey', text.message);
  const weight = fairnessWeight === undefined ? null : toFairnessWeight(fairnessWeight);
  if (weight?.ok === false) throw invalid('fairnessWeight', weight.message);
  if (key === null && weight !== null) throw weightWithoutKey();
  return { ...(key !== undefined && { key }), ...(weight !== null && { weight: weight.value }) };
}

export function weightWithoutKey(): AppError {
  return invalid('fairnessWeight', 'it needs a fairness key');
}

function invalid(parameter: string, problem: string): AppError {
  return new AppError('invalid_request', `Invalid ${parameter}: ${problem}`, { parameter });
}
