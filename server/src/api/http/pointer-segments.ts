/** The names and indices of a JSON pointer (RFC 6901). */
export function pointerSegments(pointer: string): string[] {
  const segments = pointer.split('/').slice(1);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
