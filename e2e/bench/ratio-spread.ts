/** The ratio of two things measured in pairs, and how far it can be trusted. */

export interface RatioSpread {
  /** The geometric mean of the ratios. */
  readonly ratio: number;
  /** By which factor, above 1, the ratio may be larger or smaller, with 95 % confidence; infinite for a single pair. */
  readonly factor: number;
}

const Z = 1.96;

/**
 * @param ratios one for each pair, above 0. Pairs whose ratio isn't a positive number are left out
 * @returns null if none is left
 */
export function ratioSpread(ratios: readonly number[]): RatioSpread | null {
  const logs = ratios.filter((ratio) => ratio > 0 && Number.isFinite(ratio)).map(Math.log);
  if (logs.length === 0) return null;
  const mean = sum(logs) / logs.length;
  const variance = sum(logs.map((log) => (log - mean) ** 2)) / (logs.length - 1);
  const error = studentT(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(mean), factor: logs.length === 1 ? Infinity : Math.exp(error) };
}

/** The 97.5 % quantile of Student's t distribution, by the Cornish-Fisher expansion: within 2 % from three degrees on. */
function studentT(degrees: number): number {
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  const third = (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384;
  return Z + first / degrees + second / degrees ** 2 + third / degrees ** 3;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
