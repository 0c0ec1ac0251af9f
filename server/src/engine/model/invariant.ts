/** A violated invariant of the engine: a bug, never a user's mistake. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError' as const;
}

export function invariant(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new InvariantError(`broken invariant: ${promise}`);
}
