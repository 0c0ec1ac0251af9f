/** Compares the output of a command with the output in a document, where `…` matches any text within a line. */

export function matchesShown(printed: string, shown: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?');
  return new RegExp(`^${pattern}$`).test(printed.trim());
}
