/** Windows editors begin files with a byte order mark, which is no part of their content. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
