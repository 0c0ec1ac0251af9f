/**
 * A route of a web application, with the handlers that Next.js (and other frameworks based on web standards) expect in a file
 * with this name: `POST` creates an offer, `GET` returns one.
 *
 * It runs on the server of the application, so the URL of Stepwright and the token never reach the browser.
 */
import { createClient, isApiError, isTimeoutError, type WorkflowHandle } from '@stepwright/sdk';

/** The start data of the run. */
interface QuoteInput {
  people: number;
}

/** The data of the run when it has succeeded. */
interface Quote extends QuoteInput {
  price: number;
}

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });

/** How long a request waits for the offer before the page has to ask again. */
const ANSWER_WITHIN_MS = 2000;

export async function POST(request: Request): Promise<Response> {
  const people = peopleOf(await request.json().catch(() => null));
  if (people === null) {
    return Response.json(
      { message: 'people must be a whole number of at least 1' },
      { status: 400 },
    );
  }
  // A browser that submits the form twice sends the same key twice, so only one offer is created.
  const idempotencyKey = request.headers.get('idempotency-key');
  const quote = await client.workflows.start<Quote, QuoteInput>(
    'quote',
    { people },
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

/** Returns the offer if it is ready in time; otherwise, the URL where it will be available. */
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

function peopleOf(body: unknown): number | null {
  if (typeof body !== 'object' || body === null || !('people' in body)) return null;
  const { people } = body;
  return typeof people === 'number' && Number.isInteger(people) && people >= 1 ? people : null;
}
