/** The identity that a worker sends with each poll. Nothing here imports Node, so workers also run in other runtimes. */

/** The version of this package, which a test compares with package.json. */
export const SDK_VERSION = '0.1.0';

export interface WorkerIdentity {
  readonly workerId: string;
  readonly version: string;
  /** Undefined if the runtime doesn't provide it. */
  readonly host: string | undefined;
}

/** The required part of Node's `process`. */
interface ProcessLike {
  readonly pid?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: 'node:os'): { hostname(): string } | undefined;
}

const HOST_LENGTH_MAX = 100;

export function identityOf(options: {
  readonly workerId?: string | undefined;
  readonly version?: string | undefined;
}): WorkerIdentity {
  const { process } = globalThis as { readonly process?: ProcessLike };
  const host = hostOf(process);
  return {
    host,
    workerId: options.workerId ?? newWorkerId(host, process?.pid),
    version: options.version ?? `worker-sdk/${SDK_VERSION}`,
  };
}

function hostOf(process: ProcessLike | undefined): string | undefined {
  const name = process?.getBuiltinModule?.('node:os')?.hostname() ?? process?.env?.['HOSTNAME'];
  return name === undefined || name === '' ? undefined : name.slice(0, HOST_LENGTH_MAX);
}

/** Unique even if two containers have the same host name and process id. */
function newWorkerId(host = 'worker', pid?: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4));
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [host, ...(pid === undefined ? [] : [pid]), random].join('-');
}
