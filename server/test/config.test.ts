/** The environment as users write it, and the sentences they get when it is wrong. */
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, visibleEnvironment } from '../src/config.js';

describe('readConfig', () => {
  it('has a default for everything', () => {
    expect(readConfig({})).toMatchObject({
      port: 5001,
      host: '127.0.0.1',
      dbhost: null,
      auth: false,
    });
  });

  it.each(['PORT', 'port', 'Port'])('takes %s in any casing', (name) => {
    expect(readConfig({ [name]: '6000' }).port).toBe(6000);
  });

  it.each([
    [{ PORT: 'http' }, "PORT must be a whole number from 0 to 65535, not 'http'"],
    [{ port: '70000' }, 'port must be a whole number'],
    [{ auth: 'maybe' }, 'auth must be true or false'],
    [{ auth: 'true' }, 'publickey must hold the key'],
    [{ alg: 'HS256' }, 'alg must be one of RS256'],
    [{ dbhost: 'localhost:27017' }, 'dbhost must begin with mongodb://'],
    [{ redis: 'http://x' }, 'redis must begin with redis://'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of trace'],
    [{ PORT: '1', port: '2' }, 'PORT and port are the same setting with two values'],
  ])('refuses %j with a sentence', (environment, sentence) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(sentence);
  });

  it('does not repeat a secret in its sentence', () => {
    let sentence = '';
    try {
      readConfig({ dbhost: 'postgres://user:hunter2@db' });
    } catch (error) {
      sentence = String(error);
    }
    expect(sentence).toContain('dbhost');
    expect(sentence).not.toContain('hunter2');
  });

  it('is frozen', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe('visibleEnvironment', () => {
  const environment = {
    HOME: '/home/me',
    API_TOKEN: 'for-callees',
    DBHOST: 'mongodb://user:hunter2@db',
    redis: 'redis://:secret@r',
    COPY: 'x mongodb://user:hunter2@db y',
  };

  it('hides the secrets of the server, and copies of them', () => {
    const visible = visibleEnvironment(environment, { environment_allow: null });
    expect(visible).toEqual({ HOME: '/home/me', API_TOKEN: 'for-callees' });
  });

  it('shows only what the operator lists, and never a secret', () => {
    const visible = visibleEnvironment(environment, { environment_allow: ['HOME', 'DBHOST'] });
    expect(visible).toEqual({ HOME: '/home/me' });
  });
});
