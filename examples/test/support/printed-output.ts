/** Compares what a command printed with what a document shows, where `…` stands for any text within a line. */

export function matchesShown(printed: string, shown: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?');
  return new RegExp(`^${pattern}$`).test(printed.trim());
}
