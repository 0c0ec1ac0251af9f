/** Parses server URLs and tokens. */
import { CommandFailure, misused } from '../failure.js';

export interface Address {
  readonly url: string;
  readonly token: string | null;
}

/** Without a slash at the end. @throws CommandFailure */
export function checkedUrl(text: string, origin: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw misused(`${origin} must be a URL such as https://host:5001, not '${text}'`);
  }
  if (url.username !== '' || url.password !== '') {
    throw misused(`${origin} must not contain a password: use a token`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/$/, '');
}

/** A token becomes a header value, which can't have other characters. @throws CommandFailure */
export function checkedToken(token: string): string {
  if (/^[!-~]+$/.test(token)) return token;
  throw new CommandFailure('the token is not valid: it is empty, or has spaces or line breaks');
}
