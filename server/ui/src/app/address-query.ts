import { useSearch } from 'wouter';

/**
 * The URL query, and a function that replaces it. It is read from the browser because the router decodes it twice, and names may
 * contain percent signs.
 */
export function useAddressQuery(): readonly [
  URLSearchParams,
  (members: Readonly<Record<string, string>>) => void,
] {
  // Rerenders the component when the URL changes.
  useSearch();
  return [new URLSearchParams(window.location.search), setAddressQuery];
}

/** The router listens to the history, so it notices the change. */
function setAddressQuery(members: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(members).toString();
  const { pathname } = window.location;
  window.history.pushState(null, '', query === '' ? pathname : `${pathname}?${query}`);
}
