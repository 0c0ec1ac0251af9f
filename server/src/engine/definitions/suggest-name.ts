/** Longer names are not compared: the cost grows with the product of both lengths. */
const MAX_COMPARED_LENGTH = 40;

/** ` Did you mean "X"?` for a candidate that differs only by a typo, otherwise an empty string. */
export function suggestName(name: string, candidates: Iterable<string>): string {
  const best = suggestedName(name, candidates);
  return best === null ? '' : ` Did you mean "${best}"?`;
}

/** The candidate that differs only by a typo. */
export function suggestedName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > MAX_COMPARED_LENGTH) return null;
  const wanted = name.trim().toLowerCase();
  let best: string | null = null;
  // Up to a third of the letters may differ; a more distant suggestion would confuse instead of help.
  let bestDistance = Math.floor(wanted.length / 3) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The Levenshtein distance, computed one row of the table at a time. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = cell(previous, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, cell(previous, column) + 1, cell(current, column - 1) + 1));
    }
    previous = current;
  }
  return cell(previous, right.length);
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.MAX_SAFE_INTEGER;
}
