import { useSearch } from 'wouter';

/**
 * What is behind the question mark of the address, and how to change it. Taken from the browser itself, as the router
 * decodes once more than it should: names may hold percent signs.
 */
export function useAddressQuery(): readonly [
  URLSearchParams,
  (members: Readonly<Record<string, string>>) => void,
] {
  // Asked for so that this is drawn again when the address changes.
  useSearch();
  return [new URLSearchParams(window.location.search), setAddressQuery];
}

/** The router notices: it listens to the history. */
function setAddressQuery(members: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(members).toString();
  const { pathname } = window.location;
  window.history.pushState(null, '', query === '' ? pathname : `${pathname}?${query}`);
}
