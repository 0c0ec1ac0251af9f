/** Derives the parameters and the result of each API call from the generated schema. Types only. */
import type { paths } from './generated/schema.js';

export type ApiPath = keyof paths;
export type ApiMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

type Operation<P extends ApiPath, M extends ApiMethod> = paths[P][M];

/** The methods of a path. */
export type MethodOf<P extends ApiPath> = {
  [M in ApiMethod]: Operation<P, M> extends { responses: unknown } ? M : never;
}[ApiMethod];

/** Every member may also be undefined, which omits it. */
type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined };

type PathParameters<O> = O extends { parameters: { path: infer Parameters extends object } }
  ? Parameters
  : never;

type QueryParameters<O> = O extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never;

type RequestContent<O> = O extends { requestBody?: { content: infer Content } } ? Content : never;

type BodyForms<Content> = Content extends object
  ? | (Content extends { 'application/json': infer Value } ? { readonly json: Value } : never)
    | { readonly text: string; readonly mediaType: keyof Content & string }
  : never;

/** A body: a value that is sent as JSON, or a text with its media type. */
export type CallBody<O> = BodyForms<RequestContent<O>>;

/** The path parameters, query and body of a call. They are required where the schema has them. */
export type CallParts<P extends ApiPath, M extends ApiMethod> = Part<
  'path',
  PathParameters<Operation<P, M>>
> &
  (([CallBody<Operation<P, M>>] extends [never]
    ? { readonly body?: never }
    : { readonly body: CallBody<Operation<P, M>> }) & {
    readonly query?: Loose<QueryParameters<Operation<P, M>>>;
  });

type Part<Name extends string, Value> = [Value] extends [never]
  ? { readonly [K in Name]?: never }
  : { readonly [K in Name]: Value };

type Success<O> = O extends { responses: infer Responses }
  ? Responses[Extract<keyof Responses, 200 | 201 | 202>]
  : never;

/** The body of a successful response; undefined if the response has no body. */
export type CallAnswer<P extends ApiPath, M extends ApiMethod> =
  Success<Operation<P, M>> extends { content: infer Content }
    ? Content extends { 'application/json': infer Value }
      ? Value
      : Content extends Readonly<Record<string, infer Text>>
        ? Text
        : undefined
    : undefined;
