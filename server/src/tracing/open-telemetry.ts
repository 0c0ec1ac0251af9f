/**
 * Records spans with the OpenTelemetry SDK, and sends them by OTLP over HTTP.
 *
 * The packages of the SDK are optional: they are loaded only where tracing is switched on. Finished spans wait in a queue of
 * limited length, so a collector that is slow or gone costs spans, and nothing else.
 */
import type { Context, SpanKind as ApiSpanKind, Tracer } from '@opentelemetry/api';
import type { IdGenerator, Sampler } from '@opentelemetry/sdk-trace';
import type { Logger } from '../base/logger.js';
import { SERVER_NAME, SERVER_VERSION } from '../base/version.js';
import { ConfigError } from '../base/config-error.js';
import { StoreCalls } from './store-calls.js';
import type { TraceContext } from './trace-context.js';
import type { FinishedSpan, SpanKind, TracedStoreCalls, Tracing } from './tracing.js';
import { readTracingSettings, type Environment, type TracingSettings } from './tracing-settings.js';

export interface TracingOptions {
  readonly environment: Environment;
  readonly nodeId: string;
  readonly logger: Logger;
  /** Each run makes several. */
  readonly recordsStoreCalls: boolean;
}

/** @throws ConfigError if a variable is invalid, or a package is missing */
export async function createTracing(options: TracingOptions): Promise<Tracing> {
  const settings = readTracingSettings(options.environment);
  const packages = await loadPackages();
  limitComplaints(packages, options.logger);
  return new OpenTelemetry(packages, settings, options);
}

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-http',
] as const;

type Packages = Awaited<ReturnType<typeof importPackages>>;

async function importPackages() {
  const [api, sdk, resources, otlp] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  return { api, sdk, resources, otlp };
}

async function loadPackages(): Promise<Packages> {
  try {
    return await importPackages();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_ENDPOINT switches tracing on, but its packages cannot be loaded (${reason}). ` +
        `Install them where stepwright is installed: npm install ${PACKAGES.join(' ')}. ` +
        'Or set OTEL_SDK_DISABLED=true',
    );
  }
}

const COMPLAINT_MS = 60_000;

/** An outage of the collector is worth a line a minute. */
function limitComplaints({ api }: Packages, logger: Logger): void {
  let quietUntil = 0;
  const complain = (message: string): void => {
    const now = Date.now();
    if (now < quietUntil) return;
    quietUntil = now + COMPLAINT_MS;
    logger.warn({ reason: message.slice(0, 500) }, 'could not send spans to the collector');
  };
  const ignore = (): void => undefined;
  api.diag.setLogger(
    { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** The rest of the grace belongs to the runs. */
const STOP_MS_MAX = 1500;

class OpenTelemetry implements Tracing {
  readonly storeCalls: TracedStoreCalls | null;
  readonly #packages: Packages;
  readonly #sampler: Sampler;
  readonly #tracer: Tracer;
  readonly #ids: IdGenerator;
  readonly #shutdown: () => Promise<void>;
  /** The ids of the span that is being recorded: the SDK asks for them. */
  #traceId = '';
  #spanId = '';

  constructor(
    packages: Packages,
    settings: TracingSettings,
    { nodeId, recordsStoreCalls }: TracingOptions,
  ) {
    this.storeCalls = recordsStoreCalls ? new StoreCalls(this) : null;
    const { otlp, resources, sdk } = packages;
    this.#packages = packages;
    this.#ids = new sdk.RandomIdGenerator();
    this.#sampler = createSampler(packages, settings);
    const own = resources.resourceFromAttributes({
      'service.name': SERVER_NAME.toLowerCase(),
      'service.version': SERVER_VERSION,
      'service.instance.id': nodeId,
    });
    const { resourceAttributesEnvDetector, serviceNameEnvDetector } = resources;
    const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector];
    const given = resources.detectResources({ detectors });
    const provider = new sdk.TracerProvider({
      resource: resources.defaultResource().merge(own).merge(given),
      // Only spans whose trace was sampled are recorded.
      sampler: new sdk.AlwaysOnSampler(),
      idGenerator: {
        generateTraceId: () => this.#traceId,
        generateSpanId: () => this.#spanId,
      },
      spanLimits: { attributeValueLengthLimit: 1000, eventCountLimit: 128, linkCountLimit: 32 },
      spanProcessors: [
        new sdk.BatchSpanProcessor({
          exporter: new otlp.OTLPTraceExporter(),
          maxQueueSize: settings.queueMax,
          maxExportBatchSize: settings.batchMax,
          scheduledDelayMillis: settings.delayMs,
          exportTimeoutMillis: settings.exportTimeoutMs,
        }),
      ],
    });
    this.#tracer = provider.getTracer('stepwright', SERVER_VERSION);
    this.#shutdown = () => provider.shutdown();
  }

  begin(parent: TraceContext | null): TraceContext {
    const traceId = parent?.traceId ?? this.#ids.generateTraceId();
    const spanId = this.#ids.generateSpanId();
    const sampled = this.#decides(traceId, this.#contextOf(parent));
    return { ...parent, traceId, spanId, sampled };
  }

  decides(traceId: string): boolean {
    return this.#decides(traceId, this.#contextOf(null));
  }

  record(span: FinishedSpan): void {
    const { attributes, context, errorType, events = [], links = [], parentSpanId } = span;
    if (!context.sampled) return;
    this.#traceId = context.traceId;
    this.#spanId = context.spanId;
    const { SpanKind, SpanStatusCode } = this.#packages.api;
    const parent = parentSpanId === null ? null : { ...context, spanId: parentSpanId };
    const recorded = this.#tracer.startSpan(
      span.name,
      {
        kind: SpanKind[KINDS[span.kind]],
        startTime: span.startTime,
        attributes:
          errorType === undefined ? attributes : { ...attributes, 'error.type': errorType },
        links: links.map((link) => ({ context: spanContext(link) })),
      },
      this.#contextOf(parent),
    );
    for (const event of events) recorded.addEvent(event.name, event.attributes, event.time);
    if (errorType !== undefined) {
      recorded.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
    }
    // The clocks of two nodes may differ by a moment.
    recorded.end(Math.max(span.startTime, span.endTime));
  }

  async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS_MAX);
    });
    await Promise.race([this.#shutdown().catch(() => undefined), isLate]);
    clearTimeout(timer);
  }

  #decides(traceId: string, context: Context): boolean {
    const { SamplingDecision } = this.#packages.sdk;
    const { SpanKind } = this.#packages.api;
    const { decision } = this.#sampler.shouldSample(context, traceId, '', SpanKind.SERVER, {}, []);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  }

  #contextOf(parent: TraceContext | null): Context {
    const { ROOT_CONTEXT, trace } = this.#packages.api;
    return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext(parent));
  }
}

const KINDS = {
  internal: 'INTERNAL',
  server: 'SERVER',
  client: 'CLIENT',
  producer: 'PRODUCER',
  consumer: 'CONSUMER',
} as const satisfies Record<SpanKind, keyof typeof ApiSpanKind>;

function spanContext({ sampled, spanId, traceId }: TraceContext) {
  return { traceId, spanId, traceFlags: sampled ? 1 : 0, isRemote: true };
}

function createSampler({ sdk }: Packages, { ratio, sampler }: TracingSettings): Sampler {
  const isParentBased = sampler.startsWith('parentbased_');
  const root = rootSampler(sdk, sampler.replace('parentbased_', ''), ratio);
  return isParentBased ? new sdk.ParentBasedSampler({ root }) : root;
}

function rootSampler(sdk: Packages['sdk'], name: string, ratio: number): Sampler {
  if (name === 'always_off') return new sdk.AlwaysOffSampler();
  if (name === 'always_on') return new sdk.AlwaysOnSampler();
  return new sdk.TraceIdRatioBasedSampler(ratio);
}
