/** Spans by their ids, and the headers `traceparent` and `tracestate` (W3C Trace Context) that carry them. */
import { hashOf } from '../base/ids.js';
import { withoutOuterBlanks } from '../base/outer-blanks.js';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** The caller says that its trace id is random: so it may serve for sampling. */
  readonly random?: true;
  /** What tracing systems on the way have added, passed on as it came. */
  readonly state?: string;
}

/** As the headers have them. */
export interface TraceHeaders {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const SAMPLED = 1;
const RANDOM = 2;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Null if the text is no valid `traceparent`: the specification says to ignore it then. */
export function readTraceparent(text: string | undefined): TraceContext | null {
  const match = text === undefined ? null : TRACEPARENT.exec(text.trim());
  if (match === null) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  const bits = Number.parseInt(flags, 16);
  return {
    traceId,
    spanId,
    sampled: (bits & SAMPLED) !== 0,
    ...((bits & RANDOM) !== 0 && { random: true as const }),
  };
}

/** As a request has them. */
type GivenHeaders = { readonly [Name in keyof TraceHeaders]?: string | undefined };

/** Both headers: the state belongs to a valid `traceparent`. */
export function readTraceHeaders({ traceparent, tracestate }: GivenHeaders): TraceContext | null {
  const context = readTraceparent(traceparent);
  const state = context === null ? null : readTracestate(tracestate);
  return context === null || state === null ? context : { ...context, state };
}

export function writeTraceparent({ random, sampled, spanId, traceId }: TraceContext): string {
  const bits = (sampled ? SAMPLED : 0) | (random === true ? RANDOM : 0);
  return `00-${traceId}-${spanId}-${bits.toString(16).padStart(2, '0')}`;
}

export function writeTraceHeaders(
  context: TraceContext,
): Required<Pick<TraceHeaders, 'traceparent'>> & TraceHeaders {
  return { traceparent: writeTraceparent(context), ...stateOf(context) };
}

function stateOf({ state }: TraceContext): Pick<TraceHeaders, 'tracestate'> {
  return state === undefined ? {} : { tracestate: state };
}

/** Only these two members, and only if they are there: to be spread. */
export function traceHeadersOf({ traceparent, tracestate }: TraceHeaders): TraceHeaders {
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

const MEMBERS_MAX = 32;
const MEMBER = /^[a-z0-9][_0-9a-z\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
/** It is stored with each run. The specification asks for at least 512. */
const STATE_LENGTH_MAX = 1024;
/** Longer members are the first to go. */
const MEMBER_LENGTH_KEPT = 128;

/** Null if there is none, or the text is no valid `tracestate`: the specification says to ignore it then. */
export function readTracestate(text: string | undefined): string | null {
  const members = (text ?? '')
    .split(',')
    .map(withoutOuterBlanks)
    .filter((member) => member !== '');
  if (members.length > MEMBERS_MAX || !members.every((member) => MEMBER.test(member))) return null;
  let kept = members;
  if (lengthOf(kept) > STATE_LENGTH_MAX) {
    kept = kept.filter((member) => member.length <= MEMBER_LENGTH_KEPT);
  }
  while (lengthOf(kept) > STATE_LENGTH_MAX) kept = kept.slice(0, -1);
  return kept.length === 0 ? null : kept.join(',');
}

function lengthOf(members: readonly string[]): number {
  return members.join(',').length;
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
