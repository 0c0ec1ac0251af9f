/** The pointer (RFC 6901) of a member or item below the given one. */
export function childPointer(pointer: string, segment: string | number): string {
  const text = String(segment);
  return `${pointer}/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
