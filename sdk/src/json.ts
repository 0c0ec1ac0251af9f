/** Keeps out, at compile time, what JSON cannot hold. Types only. */

declare const notJson: unique symbol;

/** Stands where a value is not JSON, so that the compiler's message says what to do. */
export interface NotJson<Hint extends string> {
  readonly [notJson]: Hint;
}

type AnyFunction = ((...args: never) => unknown) | (abstract new (...args: never) => unknown);

/**
 * `T` where JSON can hold it, with `NotJson` in place of what it cannot hold: dates, functions, symbols, and members that may
 * be undefined without being optional. Interfaces, type aliases, tuples and optional members are fine. `unknown` and `any`
 * are not checked. A `bigint` passes here, because it depends on the client how one is sent.
 *
 * @example
 * ```ts
 * import type { Json } from '@stepwright/sdk';
 *
 * // A function of yours that takes what can be sent:
 * function logAndStart<T extends object>(data: T & Json<T>): string {
 *   return JSON.stringify(data);
 * }
 * console.log(logAndStart({ order: 7, on: new Date(0).toISOString() })); // {"order":7,"on":"1970-01-01T00:00:00.000Z"}
 * // @ts-expect-error a Date is not JSON: send date.toISOString()
 * logAndStart({ order: 7, on: new Date(0) });
 * ```
 */
export type Json<T> = unknown extends T
  ? T
  : T extends string | number | boolean | bigint | null
    ? T
    : T extends undefined
      ? NotJson<'undefined is not JSON: leave the member out, or send null'>
      : T extends symbol | AnyFunction
        ? NotJson<'functions and symbols are not JSON'>
        : T extends Date
          ? NotJson<'a Date is not JSON: send date.toISOString()'>
          : T extends readonly unknown[]
            ? { [K in keyof T]: Json<T[K]> }
            : { [K in keyof T]: IsOptional<T, K> extends true ? Json<Defined<T[K]>> : Json<T[K]> };

type Defined<T> = Exclude<T, undefined>;

type IsOptional<T, K extends keyof T> = Partial<Pick<T, K>> extends Pick<T, K> ? true : false;

/** What a workflow starts with: a JSON object. */
export type StartData<T> = T extends readonly unknown[]
  ? NotJson<'start data is an object, not a list'>
  : T & Json<T>;

/** What a handler returns: JSON, or nothing, which becomes null. */
export type JsonResult<T> = [T] extends [undefined] ? T : Json<Exclude<T, undefined>>;

/** A value that travels as JSON, such as the data of an event. */
export type JsonValue<T> = T & NoInfer<Json<T>>;
