/**
 * A route of a web application, with the handlers that Next.js (and other frameworks on web standards) look for in a file
 * of this name: `POST` makes an offer, `GET` shows one.
 *
 * It runs on the server of the application, so that the address of Stepwright and a token stay there.
 */
import { createClient, isApiError, isTimeoutError, type WorkflowHandle } from '@stepwright/sdk';

/** What it starts with. */
interface QuoteInput {
  persons: number;
}

/** What it has in the end. */
interface Quote extends QuoteInput {
  price: number;
}

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });

/** How long a visitor waits for an answer before the page asks again. */
const ANSWER_WITHIN_MS = 2000;

export async function POST(request: Request): Promise<Response> {
  const persons = personsOf(await request.json().catch(() => null));
  if (persons === null) {
    return Response.json({ message: 'persons must be a whole number from 1' }, { status: 400 });
  }
  // A browser that sends the form twice sends the key twice: there will be one offer.
  const idempotencyKey = request.headers.get('idempotency-key');
  const quote = await client.workflows.start<Quote, QuoteInput>(
    'quote',
    { persons },
    idempotencyKey === null ? {} : { idempotencyKey },
  );
  return answer(quote, request);
}

export async function GET(request: Request): Promise<Response> {
  const id = new URL(request.url).searchParams.get('id') ?? '';
  try {
    return await answer(client.workflows.handle<Quote>(id), request);
  } catch (error) {
    if (!isApiError(error, 'workflow_not_found')) throw error;
    return Response.json({ message: 'there is no such offer' }, { status: 404 });
  }
}

/** The offer where it is ready in time, else the address where it will be. */
async function answer(quote: WorkflowHandle<Quote>, { signal }: Request): Promise<Response> {
  try {
    const { price } = await quote.result({ timeoutMs: ANSWER_WITHIN_MS, signal });
    return Response.json({ id: quote.id, price });
  } catch (error) {
    if (!isTimeoutError(error)) throw error;
    const location = `?id=${encodeURIComponent(quote.id)}`;
    return Response.json({ id: quote.id }, { status: 202, headers: { location } });
  }
}

function personsOf(body: unknown): number | null {
  if (typeof body !== 'object' || body === null || !('persons' in body)) return null;
  const { persons } = body;
  return typeof persons === 'number' && Number.isInteger(persons) && persons >= 1 ? persons : null;
}
