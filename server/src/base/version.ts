/** Name and version of the server, from its package file. */
import { readFileSync } from 'node:fs';

const file = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const SERVER_NAME = 'Stepwright';
export const SERVER_VERSION = file.version;
