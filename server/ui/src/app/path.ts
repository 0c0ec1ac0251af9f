import { useLocation } from 'wouter';

/**
 * The decoded URL segments after `/ui/`. They are read from the browser because the router decodes them twice, and names may
 * contain any character, including percent signs and slashes.
 */
export function usePathParts(): readonly string[] {
  // Rerenders the component when the URL changes.
  useLocation();
  return window.location.pathname
    .split('/')
    .slice(2)
    .map((part) => decode(part));
}

/** Builds a path within the page: `toPath('runs', id)`. */
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
