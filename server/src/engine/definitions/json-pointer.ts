/** The JSON Pointer (RFC 6901) of a member or item of the value at the given pointer. */
export function childPointer(pointer: string, segment: string | number): string {
  const text = String(segment);
  // The usual case, kept fast: a large definition has a pointer for each of its values.
  if (!text.includes('~') && !text.includes('/')) return `${pointer}/${text}`;
  return `${pointer}/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
