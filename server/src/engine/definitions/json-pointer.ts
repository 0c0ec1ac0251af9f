/** The pointer (RFC 6901) of a member or item below the given one. */
export function childPointer(pointer: string, segment: string | number): string {
  const text = String(segment);
  // Nearly always; and a large definition has a pointer for each of its values.
  if (!text.includes('~') && !text.includes('/')) return `${pointer}/${text}`;
  return `${pointer}/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
