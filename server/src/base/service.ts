/**
 * A long-lived part of the server.
 *
 * `start` resolves when the part is ready. `stop` may be called twice or before `start`; it resolves when all work in
 * progress has ended.
 */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
