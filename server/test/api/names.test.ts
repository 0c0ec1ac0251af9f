/** Names in paths: decoded, limited, and free of characters that could confuse a log or a terminal. */
import { describe, expect, it } from 'vitest';
import { checkedPathName } from '../../src/api/wire/map/name.js';
import { checkedEventName } from '../../src/api/wire/map/event.js';
import { checkedNotificationName } from '../../src/api/wire/map/notification.js';
import { problemOf, startApi } from './support/api-server.js';

const publishing = { 'events.publish': async () => ({ id: 'e1', deliveredTo: 0 }) };

describe('a name in a path', () => {
  it.each([
    ['paid', '7'],
    ['größe', '日本'],
    ['a b', 'c/d'],
    ['$where', '{"$gt":""}'],
    ['..', '.'],
    ['__proto__', 'constructor'],
    ['x'.repeat(200), 'y'.repeat(512)],
  ])('reaches the host decoded: %j and %j', async (name, key) => {
    const api = await startApi({ host: publishing });
    // Every client removes a path segment of dots; an encoded one is kept.
    const encoded = (text: string) => encodeURIComponent(text).replaceAll('.', '%252E');
    const path = `/api/event/${encoded(name)}/${encoded(key)}`;
    expect((await api.post(path, 'null', 'application/json')).status).toBe(202);
    const dotted = (text: string) => text.replaceAll('.', '%2E');
    expect(api.calls[0]!.args[0]).toMatchObject({ name: dotted(name), key: dotted(key) });
  });

  it.each([
    ['%00', 'k'],
    ['a%0Ab', 'k'],
    ['a', '%1B%5B31m'],
    ['a', '%C2%85'],
    ['x'.repeat(201), 'k'],
    ['a', 'y'.repeat(513)],
  ])('is rejected if it is invalid: %j and %j', async (name, key) => {
    const api = await startApi({ host: publishing });
    const response = await api.post(`/api/event/${name}/${key}`, 'null', 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
    expect(api.calls).toEqual([]);
  });

  it.each([
    ['GET', '/api/definition/%00'],
    ['POST', '/api/workflow/%00'],
    ['GET', '/api/workflow/%00'],
    ['GET', '/api/workflow/%00/steps'],
    ['PUT', '/api/workflow/%00/suspend'],
    ['PUT', '/api/workflow/%00/resume'],
    ['DELETE', '/api/workflow/%00'],
    ['GET', '/api/activity/%00'],
    ['GET', '/api/step/%00'],
    ['POST', '/api/workflow/a?reference=%00'],
  ])('is validated by %s %s', async (method, path) => {
    const api = await startApi();
    expect((await api.fetch(path, { method })).status).toBe(400);
  });
});

describe('a name that later becomes part of a path', () => {
  it.each(['.', '..'])('is rejected if every client would remove it: %s', (name) => {
    const reason = `is ${name}, which no client can put into a URL`;
    expect(() => checkedPathName(name, 'step name')).toThrow(`The step name ${reason}`);
    expect(() => checkedEventName(name, 'k')).toThrow(`The event name ${reason}`);
    expect(() => checkedEventName('n', name)).toThrow(`The event key ${reason}`);
    expect(() => checkedNotificationName(name)).toThrow(reason);
  });

  it.each(['...', '.a', 'a..', 'a/..'])('accepts dots: %s', (name) => {
    expect(checkedEventName(name, name)).toEqual({ name, key: name });
  });
});
