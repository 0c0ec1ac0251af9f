/** Where the next step of a sweep over a collection continues; null: at the beginning. */
export interface SweepPosition {
  after: string | null;
}
