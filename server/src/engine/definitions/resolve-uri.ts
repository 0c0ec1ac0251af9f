/** Resolves relative references between the `$id`s of one schema (RFC 3986, 5.2). The engine can't use the platform's `URL`. */

const URI =
  /^(?:(?<scheme>[a-z][a-z0-9+.-]*):)?(?:\/\/(?<authority>[^/?#]*))?(?<path>[^?#]*)(?<query>\?[^#]*)?/i;

interface Parts {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string;
}

/** @param reference without a fragment */
export function resolveUri(base: string, reference: string): string {
  const given = partsOf(reference);
  if (given.scheme !== undefined) return written({ ...given, path: withoutDots(given.path) });
  const outer = partsOf(base);
  const { scheme } = outer;
  if (given.authority !== undefined) {
    return written({ ...given, scheme, path: withoutDots(given.path) });
  }
  const { authority } = outer;
  if (given.path === '') {
    const query = given.query === '' ? outer.query : given.query;
    return written({ scheme, authority, path: outer.path, query });
  }
  const path = given.path.startsWith('/') ? given.path : merged(outer, given.path);
  return written({ scheme, authority, path: withoutDots(path), query: given.query });
}

function partsOf(uri: string): Parts {
  const { authority, path = '', query = '', scheme } = URI.exec(uri)?.groups ?? {};
  return { scheme: scheme?.toLowerCase(), authority: authority?.toLowerCase(), path, query };
}

function merged({ authority, path }: Parts, reference: string): string {
  if (authority !== undefined && path === '') return `/${reference}`;
  return path.slice(0, path.lastIndexOf('/') + 1) + reference;
}

function withoutDots(path: string): string {
  if (!path.includes('.')) return path;
  const kept: string[] = [];
  const segments = path.split('/');
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') {
      // The first segment of an absolute path is the empty one before its slash.
      if (kept.length > 1 || (kept.length === 1 && kept[0] !== '')) kept.pop();
    } else if (segment !== '.') {
      kept.push(segment);
    }
    if (isLast && (segment === '.' || segment === '..')) kept.push('');
  }
  return kept.join('/');
}

function written({ authority, path, query, scheme }: Parts): string {
  const start = scheme === undefined ? '' : `${scheme}:`;
  return `${start}${authority === undefined ? '' : `//${authority}`}${path}${query}`;
}
