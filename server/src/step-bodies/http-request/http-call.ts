/** The call of an HttpRequest step, read from its evaluated inputs: everything is checked before anything is sent. */
import { writeJson } from '../../engine/values/exact-json.js';
import { HTTP_FORMATS, HTTP_METHODS, type HttpFormat } from '../../engine/values/input-choices.js';
import { toChoice, toDurationMs, toObject, toText } from '../../engine/values/convert-input.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { toStatusList, type StatusList } from '../../engine/values/status-list.js';
import { InputError, optional, required } from '../../engine/primitives/primitive.js';
import { traceHeadersOf, type TraceHeaders } from '../../tracing/trace-context.js';
import { buildRequestHeaders, type RequestHeaders } from './request-headers.js';
import { buildRequestUrl, encodeParameters } from './request-url.js';

export interface HttpCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: RequestHeaders;
  readonly body: Buffer | null;
}

const NAME_LENGTH_MAX = 300;

/**
 * How messages name a call: with its path, but without the query, which may contain confidential data.
 *
 * @param mask takes secrets out of the address before it is cut: a part of a value is not recognized
 */
export function nameOfCall(
  { method, url }: Pick<HttpCall, 'method' | 'url'>,
  mask = (text: string): string => text,
): string {
  const { origin, pathname, search } = url;
  // With its query, and with the mark before it: a secret may contain that mark, even at its end.
  const [address = ''] = mask(`${origin}${pathname}?${search.slice(1)}`).split('?', 1);
  const name = pathname === '/' ? address.replace(/\/$/, '') : address;
  const isCut = name.length > NAME_LENGTH_MAX;
  return `${method} ${isCut ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name}`;
}

/** The settings of a call and all of its redirects. */
export interface CallTerms {
  readonly timeoutMs: number;
  /** Null: every response is a result. */
  readonly succeedOn: StatusList | null;
}

export interface CallSettings {
  readonly idempotencyKey: string;
  /** Omitted: the call belongs to no trace. */
  readonly trace?: TraceHeaders | undefined;
  readonly timeoutMs: number;
  /** The maximum of an author's Timeout; longer ones are reduced to it. */
  readonly timeoutMsMax: number;
}

/** The default headers of a format, which the author's headers override; `None` sets neither. */
const ACCEPT: Readonly<Record<HttpFormat, string>> = {
  Json: 'application/json, */*;q=0.8',
  Xml: 'application/xml, text/xml, */*;q=0.8',
  None: '*/*',
};
const CONTENT_TYPE: Readonly<Record<HttpFormat, string | null>> = {
  Json: 'application/json',
  Xml: 'application/xml',
  None: null,
};

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** @throws InputError */
export function readHttpCall(inputs: JsonObject, settings: CallSettings): HttpCall & CallTerms {
  const url = buildRequestUrl({
    baseUrl: required(inputs, 'BaseUrl', toText),
    resource: optional(inputs, 'Resource', toText, ''),
    parameters: optional(inputs, 'Parameters', toObject, {}),
  });
  const format = optional(inputs, 'Format', (value) => toChoice(value, HTTP_FORMATS), 'Json');
  const body = inputs['Body'] ?? null;
  const fields = optional(inputs, 'Headers', toObject, {});
  const headers = buildRequestHeaders(
    { ...fields, ...basicAuthentication(inputs, fields) },
    { ...defaultHeaders(format, body, settings), ...traceFields(fields, settings.trace) },
  );
  return {
    method: optional(inputs, 'Method', (value) => toChoice(value, HTTP_METHODS), 'GET'),
    url,
    headers,
    body: encodeBody(body, format, headers.get('content-type') ?? ''),
    timeoutMs: readTimeout(inputs, settings),
    succeedOn: optional<StatusList | null>(inputs, 'SucceedOn', toStatusList, null),
  };
}

/** RFC 7617, in UTF-8. */
function basicAuthentication(inputs: JsonObject, fields: JsonObject): JsonObject {
  const username = optional<string | null>(inputs, 'Username', toText, null);
  const password = optional<string | null>(inputs, 'Password', toText, null);
  if (username === null && password === null) return {};
  if (username === null) throw new InputError('the input Username: Password needs it');
  if (Object.keys(fields).some((name) => name.toLowerCase() === 'authorization')) {
    throw new InputError('the input Username: Headers has Authorization, too; remove one of them');
  }
  if (username.includes(':')) {
    throw new InputError('the input Username: it must not contain a colon');
  }
  const text = `${username}:${password ?? ''}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

function readTimeout(inputs: JsonObject, settings: CallSettings): number {
  const timeoutMs = optional(inputs, 'Timeout', toDurationMs, settings.timeoutMs);
  if (timeoutMs === 0) throw new InputError('the input Timeout: it must be longer than 0');
  return Math.min(timeoutMs, settings.timeoutMsMax);
}

function defaultHeaders(
  format: HttpFormat,
  body: Json,
  settings: CallSettings,
): Readonly<Record<string, string>> {
  const contentType = body === null ? null : CONTENT_TYPE[format];
  return {
    accept: ACCEPT[format],
    'accept-encoding': 'gzip, br',
    'idempotency-key': settings.idempotencyKey,
    'user-agent': 'stepwright',
    ...(contentType === null ? {} : { 'content-type': contentType }),
  };
}

/** None beside an author's own `traceparent`: its state is another one. */
function traceFields(fields: JsonObject, trace: CallSettings['trace']): TraceHeaders {
  const isOwn = Object.keys(fields).some((name) => name.toLowerCase() === 'traceparent');
  return trace === undefined || isOwn ? {} : traceHeadersOf(trace);
}

/** A string is sent unchanged: the author has already written the JSON or XML. */
function encodeBody(body: Json, format: HttpFormat, contentType: string): Buffer | null {
  if (body === null) return null;
  if (typeof body === 'string') return Buffer.from(body);
  if (FORM_TYPE.test(contentType)) {
    if (!isJsonObject(body)) {
      throw new InputError(
        'the input Body: a form must be an object with one field for each field of the form',
      );
    }
    return Buffer.from(encodeParameters('Body', body));
  }
  if (format === 'Xml')
    throw new InputError('the input Body: with the format Xml, it must be a string');
  return Buffer.from(writeJson(body));
}
