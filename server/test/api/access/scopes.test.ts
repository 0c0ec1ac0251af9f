import { describe, expect, it } from 'vitest';
import { isScope, allowedNamesOf } from '../../../src/api/access/scopes.js';

const reach = (scope: string, ...scopes: readonly string[]) =>
  allowedNamesOf(new Set(scopes), scope);

describe('isScope', () => {
  it.each([
    'conductor:admin',
    'conductor:author',
    'conductor:controller',
    'conductor:viewer',
    'conductor:worker',
    'conductor:viewer:order*',
    'conductor:controller:a:b*',
    'conductor:worker:é😀-*',
  ])('is true for %s', (scope) => {
    expect(isScope(scope)).toBe(true);
  });

  it.each([
    '',
    'viewer',
    'conductor:',
    'conductor:viewer:',
    'conductor:viewer:*',
    'conductor:viewer:order',
    'conductor:viewer:or*der',
    'conductor:viewer:or*der*',
    'conductor:viewer:order**',
    'conductor:viewer:or der*',
    'conductor:viewer:order\u0000*',
    'conductor:viewer:\ud800*',
    `conductor:viewer:${'a'.repeat(201)}*`,
    'conductor:admin:order*',
    'conductor:author:order*',
    'conductor:Viewer:order*',
    'conductor:constructor',
    'toString:order*',
  ])('is false for %j', (scope) => {
    expect(isScope(scope)).toBe(false);
  });
});

describe('allowedNamesOf', () => {
  it('returns everything for the unprefixed scope, and for an admin', () => {
    expect(reach('conductor:viewer', 'conductor:viewer')).toBe('all');
    expect(reach('conductor:viewer', 'conductor:viewer:a*', 'conductor:viewer')).toBe('all');
    expect(reach('conductor:worker', 'conductor:admin')).toBe('all');
  });

  it('returns the prefixes of this scope only, without those that others include', () => {
    const scopes = [
      'conductor:viewer:order-b*',
      'conductor:viewer:order*',
      'conductor:viewer:bill*',
      'conductor:controller:ship*',
    ];
    expect(reach('conductor:viewer', ...scopes)).toEqual(['bill', 'order']);
    expect(reach('conductor:controller', ...scopes)).toEqual(['ship']);
    expect(reach('conductor:worker', ...scopes)).toEqual([]);
  });

  it('returns no reach for malformed or non-narrowable scopes', () => {
    expect(reach('conductor:viewer', 'conductor:viewer:', 'conductor:viewer:*')).toEqual([]);
    expect(reach('conductor:author', 'conductor:author:a*')).toEqual([]);
    expect(reach('conductor:admin', 'conductor:admin:a*', 'conductor:viewer')).toEqual([]);
  });

  it('refuses more prefixes than a search can have', () => {
    const scopes = Array.from({ length: 51 }, (_, index) => `conductor:viewer:p${index + 100}*`);
    expect(reach('conductor:viewer', ...scopes.slice(1))).toHaveLength(50);
    expect(() => reach('conductor:viewer', ...scopes)).toThrow('more than 50 prefixes');
    expect(reach('conductor:viewer', ...scopes, 'conductor:viewer:p*')).toEqual(['p']);
  });
});
