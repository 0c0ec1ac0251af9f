/** A collector that runs in the test: it takes OTLP over HTTP as JSON, and keeps the spans. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** As in the protocol: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number;
  /** Of the process that sent it. */
  readonly nodeId: unknown;
}

interface WireAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan extends Omit<
  ReceivedSpan,
  'start' | 'end' | 'attributes' | 'events' | 'links' | 'status' | 'nodeId'
> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly WireAttribute[];
  readonly events?: ReceivedSpan['events'];
  readonly links?: ReceivedSpan['links'];
  readonly status?: { readonly code?: number };
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export class Collector {
  readonly spans: ReceivedSpan[] = [];
  /** Everything as it was sent. */
  received = '';
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.url === '/v1/traces') this.#take(body);
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // It listens on TCP.
    return `http://127.0.0.1:${port}`;
  }

  /** The spans of a trace by their ids. A span that was sent twice must be the same both times. */
  trace(traceId: string): ReadonlyMap<string, ReceivedSpan> {
    const spans = new Map<string, ReceivedSpan>();
    for (const span of this.spans.filter((each) => each.traceId === traceId)) {
      const known = spans.get(span.spanId);
      if (known !== undefined && shown(known) !== shown(span)) {
        throw new Error(`two spans have one id:\n${shown(known)}\n${shown(span)}`);
      }
      spans.set(span.spanId, span);
    }
    return spans;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(body: string): void {
    this.received += body;
    // The SDK under test wrote it, and the test checks what is in it.
    const { resourceSpans } = JSON.parse(body) as WireRequest;
    for (const { resource, scopeSpans } of resourceSpans) {
      const nodeId = valuesOf(resource.attributes)['service.instance.id'];
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push(readSpan(span, nodeId));
      }
    }
  }
}

function readSpan(span: WireSpan, nodeId: unknown): ReceivedSpan {
  const { attributes, endTimeUnixNano, events = [], links = [], startTimeUnixNano, status } = span;
  return {
    ...span,
    start: Number(BigInt(startTimeUnixNano) / 1_000_000n),
    end: Number(BigInt(endTimeUnixNano) / 1_000_000n),
    attributes: valuesOf(attributes),
    events,
    links,
    status: status?.code ?? 0,
    nodeId,
  };
}

function valuesOf(attributes: readonly WireAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Whichever process sent it. */
function shown({
  attributes,
  end,
  events,
  name,
  parentSpanId,
  start,
  status,
}: ReceivedSpan): string {
  return JSON.stringify({ name, parentSpanId, start, end, status, attributes, events });
}
