/**
 * User data in documents (rule S6): a string, or a compressed binary when it is long.
 *
 * Either way it is one value, in which no key or operator means anything to the database. Compression keeps documents
 * far from the 16 MB limit, and costs less time than sending them as they are.
 */
import { Binary } from 'mongodb';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { decodeText, encodeText } from '../text-codec.js';

export type PackedText = string | Binary;

const PLAIN_LENGTH_MAX = 8192;
/** Far beyond what instances may hold; a few kilobytes that somebody else wrote could unpack to anything. */
const UNPACKED_BYTES_MAX = 1 << 28;

export function packText(text: string): PackedText {
  const encoded = encodeText(text);
  if (encoded.length <= PLAIN_LENGTH_MAX) return encoded;
  return new Binary(deflateRawSync(encoded, { level: 1 }));
}

/**
 * The text, or none where what is stored was never packed here: it is for the reader of the text to say what is wrong, in a
 * place where only that one document suffers.
 */
export function unpackText(packed: PackedText): string {
  try {
    if (typeof packed === 'string') return decodeText(packed);
    const maxOutputLength = UNPACKED_BYTES_MAX;
    return decodeText(inflateRawSync(packed.value(), { maxOutputLength }).toString('utf8'));
  } catch {
    return '';
  }
}

export function encodeOptional(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

export function decodeOptional(stored: string | null): string | null {
  return stored === null ? null : decodeText(stored);
}
