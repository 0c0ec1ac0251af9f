/** Rejects values that JSON cannot represent, at compile time. Types only. */

declare const notJson: unique symbol;

/** Replaces a type that is not JSON, so that the compiler's message says what to do. */
export interface NotJson<Hint extends string> {
  readonly [notJson]: Hint;
}

type AnyFunction = ((...args: never) => unknown) | (abstract new (...args: never) => unknown);

/**
 * `T` if JSON can represent it. `NotJson` replaces the parts that JSON cannot represent: dates, functions, symbols, and
 * required members that may be undefined. Interfaces, type aliases, tuples and optional members are allowed. `unknown` and
 * `any` are not checked. A `bigint` is allowed: the client sends it as an integer.
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

/** The start data of a run: a JSON object. */
export type StartData<T> = T extends readonly unknown[]
  ? NotJson<'start data must be an object, not a list'>
  : T & Json<T>;

/** The result of a handler: JSON, or undefined, which becomes null. */
export type JsonResult<T> = [T] extends [undefined] ? T : Json<Exclude<T, undefined>>;

/** A value that is sent as JSON, such as the data of an event. */
export type JsonValue<T> = T & NoInfer<Json<T>>;
