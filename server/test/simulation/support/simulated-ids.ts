/** Ids without real randomness: with them the same seed gives the same run. Replaces `newId` of `base/ids.ts`. */
let made = 0;

export function resetIds(): void {
  made = 0;
}

export function newId(now: number): string {
  made += 1;
  return `0${now}${String(made).padStart(6, '0')}`;
}
