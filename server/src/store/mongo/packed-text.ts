/**
 * User data in documents (rule S6): a string, or a compressed binary if it is long.
 *
 * Either way it is a single value, in which no key or operator has a meaning to the database. Compression keeps
 * documents far below the 16 MB limit, and takes less time than sending them uncompressed.
 */
import { Binary } from 'mongodb';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { decodeText, encodeText } from '../text-codec.js';

export type PackedText = string | Binary;

const PLAIN_LENGTH_MAX = 8192;
/**
 * Far more than an instance may hold. Without this limit, a few kilobytes written by another program could unpack to
 * any size.
 */
const UNPACKED_BYTES_MAX = 1 << 28;

export function packText(text: string): PackedText {
  const encoded = encodeText(text);
  if (encoded.length <= PLAIN_LENGTH_MAX) return encoded;
  return new Binary(deflateRawSync(encoded, { level: 1 }));
}

export function packOptional(text: string | null): PackedText | null {
  return text === null ? null : packText(text);
}

/** As it is stored, in characters or bytes. */
export function packedLength(packed: PackedText): number {
  return typeof packed === 'string' ? packed.length : packed.length();
}

/**
 * The text, or an empty one if the stored value wasn't packed here. The reader of the text then reports the problem,
 * in a place where it affects only this document.
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

export function decodeOptional(stored: string | null): string | null {
  return stored === null ? null : decodeText(stored);
}
