/** Where the next step of a sweep over a collection continues; null: at the beginning. */
export interface SweepPosition<Key = string> {
  after: Key | null;
}
