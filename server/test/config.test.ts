/** The environment as users write it, and the messages for invalid values. */
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../src/base/config-error.js';
import { readConfig, visibleEnvironment } from '../src/config/read-config.js';
import { SETTINGS } from '../src/config/settings.js';

describe('readConfig', () => {
  it('has a default for every setting', () => {
    expect(readConfig({})).toMatchObject({
      port: 5001,
      host: '127.0.0.1',
      dbhost: null,
      auth: false,
    });
  });

  it.each(['PORT', 'port', 'Port'])('accepts %s in any casing', (name) => {
    expect(readConfig({ [name]: '6000' }).port).toBe(6000);
  });

  it.each([
    [{ PORT: 'http' }, "PORT must be a whole number from 0 to 65535, not 'http'"],
    [{ port: '70000' }, 'port must be a whole number'],
    [{ auth: 'maybe' }, 'auth must be true or false'],
    [{ auth: 'true' }, 'auth=true requires publickey, issuer or jwks_url'],
    [{ issuer: 'http://id.example' }, 'issuer must begin with https://'],
    [{ jwks_url: 'https://me:secret@id.example' }, 'jwks_url must begin with https://'],
    [
      { auth: 'true', issuer: 'https://id.example', jwks_url: 'https://id.example/keys' },
      'issuer and jwks_url cannot be set together',
    ],
    [
      { auth: 'true', jwks_url: 'https://id.example/keys', auth_client_id: 'page' },
      'auth_client_id requires issuer',
    ],
    [{ auth_client_parameters: 'https://a' }, 'auth_client_parameters must be parameters such as'],
    [{ alg: 'HS256' }, 'alg must be one of RS256'],
    [
      { dbhost: 'localhost:27017' },
      'dbhost must begin with postgres:// or postgresql:// or mongodb://',
    ],
    [{ redis: 'http://x' }, 'redis must begin with redis://'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of trace'],
    [{ PORT: '1', port: '2' }, 'PORT and port are the same setting, but their values differ'],
  ])('rejects %j with a clear message', (environment, sentence) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(sentence);
  });

  it('does not reveal a secret in its message', () => {
    let sentence = '';
    try {
      readConfig({ dbhost: 'mysql://user:hunter2@db' });
    } catch (error) {
      sentence = String(error);
    }
    expect(sentence).toContain('dbhost');
    expect(sentence).not.toContain('hunter2');
  });

  it('returns a frozen object', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe('visibleEnvironment', () => {
  const environment = {
    HOME: '/home/me',
    TZ: 'Europe/Berlin',
    APP_TOKEN: 'for-callees',
    APP_URL: 'http://callee',
    DBHOST: 'mongodb://user:hunter2@db',
    redis: 'redis://:secret@r',
    COPY: 'x mongodb://user:hunter2@db y',
    PORT: '5001',
    Data_Dir: './data',
    AUTH: 'true',
    environment_allow: 'HOME',
  };
  const visible = (environment_allow: readonly string[] | null, auth: boolean) =>
    Object.keys(visibleEnvironment(environment, { environment_allow, auth }));

  it('contains everything except settings and copies of secrets without auth', () => {
    expect(visible(null, false)).toEqual(['HOME', 'TZ', 'APP_TOKEN', 'APP_URL']);
  });

  it('contains only information about the process with auth', () => {
    expect(visible(null, true)).toEqual(['TZ']);
  });

  it.each([true, false])('contains the names that the operator lists, with auth %s', (auth) => {
    expect(visible(['HOME', 'APP_URL'], auth)).toEqual(['HOME', 'APP_URL']);
    expect(visible(['APP_*'], auth)).toEqual(['APP_TOKEN', 'APP_URL']);
    expect(visible(['*'], auth)).toEqual(['HOME', 'TZ', 'APP_TOKEN', 'APP_URL']);
    expect(visible([], auth)).toEqual([]);
  });

  it.each(Object.keys(SETTINGS))('does not contain the setting %s, in any casing', (name) => {
    const own = { [name]: 'a', [name.toUpperCase()]: 'b' };
    for (const environment_allow of [['*'], Object.keys(own), null]) {
      expect(visibleEnvironment(own, { environment_allow, auth: false })).toEqual({});
    }
  });

  it('handles names that objects inherit', () => {
    const odd = { constructor: 'c', toString: 't', hasOwnProperty: 'h' };
    expect(visibleEnvironment(odd, { environment_allow: null, auth: false })).toEqual(odd);
  });
});
