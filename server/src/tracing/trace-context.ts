/** Spans by their ids, and the header `traceparent` (W3C Trace Context) that carries them. */
import { hashOf } from '../base/ids.js';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Null if the text is no valid `traceparent`: the specification says to ignore it then. */
export function readTraceparent(text: string | undefined): TraceContext | null {
  const match = text === undefined ? null : TRACEPARENT.exec(text.trim());
  if (match === null) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function writeTraceparent({ sampled, spanId, traceId }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** A span that several nodes may mention or record has an id that all of them can compute. */
export function spanIdOf(kind: string, ...parts: readonly (string | number)[]): string {
  return digest(kind, parts).slice(0, 16);
}

export function traceIdOf(kind: string, ...parts: readonly (string | number)[]): string {
  return digest(kind, parts).slice(0, 32);
}

function digest(kind: string, parts: readonly (string | number)[]): string {
  return Buffer.from(hashOf(kind, ...parts.map(String)), 'base64url').toString('hex');
}
