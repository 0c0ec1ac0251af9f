/** The standard variables of OpenTelemetry that the server reads itself; the exporter reads `OTEL_EXPORTER_OTLP_…`. */
import { ConfigError } from '../base/config-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TracingSettings {
  readonly sampler: (typeof SAMPLERS)[number];
  /** Of the samplers by ratio. */
  readonly ratio: number;
  readonly queueMax: number;
  readonly batchMax: number;
  readonly delayMs: number;
  readonly exportTimeoutMs: number;
}

/** Whether the address of a collector is set, and nothing switches traces off. @throws ConfigError */
export function isTracingOn(environment: Environment): boolean {
  const read = readerOf(environment);
  const hasCollector = ADDRESSES.some((name) => read(name) !== '');
  if (!hasCollector || read('OTEL_SDK_DISABLED').toLowerCase() === 'true') return false;
  const exporter = read('OTEL_TRACES_EXPORTER').toLowerCase();
  if (exporter === 'none') return false;
  if (exporter !== '' && exporter !== 'otlp') {
    throw new ConfigError('OTEL_TRACES_EXPORTER must be otlp or none');
  }
  return true;
}

const ADDRESSES = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

function readerOf(environment: Environment): (name: string) => string {
  return (name) => environment[name]?.trim() ?? '';
}

/** @throws ConfigError */
export function readTracingSettings(environment: Environment): TracingSettings {
  const read = readerOf(environment);
  for (const name of ADDRESSES) {
    const address = read(name);
    if (address === '' || (/^https?:\/\//.test(address) && URL.canParse(address))) continue;
    throw new ConfigError(`${name} must be an http:// or https:// address`);
  }
  const queueMax = count(read, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048);
  return {
    ...readSampler(read),
    queueMax,
    batchMax: Math.min(queueMax, count(read, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
    delayMs: count(read, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
    exportTimeoutMs: count(read, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000),
  };
}

function readSampler(read: (name: string) => string): Pick<TracingSettings, 'sampler' | 'ratio'> {
  const name = read('OTEL_TRACES_SAMPLER').toLowerCase();
  const sampler = name === '' ? 'parentbased_always_on' : SAMPLERS.find((known) => known === name);
  if (sampler === undefined) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}`);
  }
  const text = read('OTEL_TRACES_SAMPLER_ARG');
  const ratio = text === '' ? 1 : Number(text);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new ConfigError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  }
  return { sampler, ratio };
}

function count(read: (name: string) => string, name: string, fallback: number): number {
  const text = read(name);
  if (text === '') return fallback;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError(`${name} must be a whole number from 1 to 9999999`);
}
