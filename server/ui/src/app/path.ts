import { useLocation } from 'wouter';

/**
 * The parts of the address behind `/ui/`, decoded. Taken from the browser itself: the router decodes once more, and names
 * may hold anything, percent signs and slashes too.
 */
export function usePathParts(): readonly string[] {
  // Asked for so that this is drawn again when the address changes.
  useLocation();
  return window.location.pathname
    .split('/')
    .slice(2)
    .map((part) => decode(part));
}

/** An address of the page: `toPath('runs', id)`. */
export function toPath(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
