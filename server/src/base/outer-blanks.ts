/**
 * The text without the spaces and tabs around it, as HTTP reads field values. A regular expression for both ends would take
 * quadratic time, and others choose the text.
 */
export function withoutOuterBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (start < end && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
