/** Step types that name a version of a custom step: `price@3`. */

export interface PinnedStep {
  readonly name: string;
  readonly version: number | 'latest';
}

const PINNED = /^(?<name>.+)@(?<version>[1-9]\d{0,14})$/s;

/** A name without a version means the latest. */
export function readPinnedStep(stepType: string): PinnedStep {
  const { name, version } = PINNED.exec(stepType)?.groups ?? {};
  if (name === undefined || version === undefined) return { name: stepType, version: 'latest' };
  return { name, version: Number(version) };
}
