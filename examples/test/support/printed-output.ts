/**
 * Compares the output of a command with the output in a document, where `…` matches any text within a line, and a line that is
 * only `…` any number of lines.
 */

const ANY = '…';

export function matchesShown(printed: string, shown: string): boolean {
  const lines = shown.trim().split('\n');
  const pattern = lines.map((line, index) => {
    if (line !== ANY) return (index === 0 ? '' : '\n') + patternOf(line);
    return index === 0 ? '[^]*?' : '(?:\n.*)*?';
  });
  return new RegExp(`^${pattern.join('')}$`).test(printed.trim());
}

function patternOf(line: string): string {
  return line
    .split(ANY)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?');
}
