/** Something happened in a simulation that must never happen. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function hold(condition: boolean, rule: string, details: () => string): void {
  if (!condition) throw new Violation(`${rule}: ${details()}`);
}
