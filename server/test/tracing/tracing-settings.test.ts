import { describe, expect, it } from 'vitest';
import { readConfig, visibleEnvironment } from '../../src/config/read-config.js';
import { isTracingOn, readTracingSettings } from '../../src/tracing/tracing-settings.js';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('tracing', () => {
  it.each([
    [{}, false],
    [COLLECTOR, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, true],
    [{ ...COLLECTOR, OTEL_SDK_DISABLED: 'true' }, false],
    [{ ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...COLLECTOR, OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ])('depends on %o: on is %s', (environment, isOn) => {
    expect(isTracingOn(environment)).toBe(isOn);
  });

  it('samples all, unless the standard variables say otherwise', () => {
    expect(readTracingSettings(COLLECTOR)).toEqual({
      sampler: 'parentbased_always_on',
      ratio: 1,
      queueMax: 2048,
      batchMax: 512,
      delayMs: 5000,
      exportTimeoutMs: 30_000,
    });
    const given = {
      ...COLLECTOR,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
    };
    expect(readTracingSettings(given)).toMatchObject({
      sampler: 'parentbased_traceidratio',
      ratio: 0.01,
      queueMax: 100,
      batchMax: 100,
    });
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      /OTEL_EXPORTER_OTLP_ENDPOINT must be an http/,
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be an http/],
    [
      { ...COLLECTOR, OTEL_TRACES_SAMPLER: 'often' },
      /OTEL_TRACES_SAMPLER must be one of always_on/,
    ],
    [
      { ...COLLECTOR, OTEL_TRACES_SAMPLER_ARG: '1.5' },
      /OTEL_TRACES_SAMPLER_ARG must be a number from 0/,
    ],
    [
      { ...COLLECTOR, OTEL_TRACES_SAMPLER_ARG: 'x' },
      /OTEL_TRACES_SAMPLER_ARG must be a number from 0/,
    ],
    [
      { ...COLLECTOR, OTEL_BSP_SCHEDULE_DELAY: '-1' },
      /OTEL_BSP_SCHEDULE_DELAY must be a whole number/,
    ],
  ])('refuses %o', (environment, message) => {
    expect(() => readTracingSettings(environment)).toThrow(message);
  });

  it('refuses exporters that the server does not have', () => {
    const environment = { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'zipkin' };
    expect(() => isTracingOn(environment)).toThrow('OTEL_TRACES_EXPORTER must be otlp or none');
  });

  it.each([
    'jaeger/{trace_id}',
    'https://jaeger.example.com/trace',
    'javascript:alert({trace_id})',
  ])('refuses %s as the address of a trace', (address) => {
    expect(() => readConfig({ TRACE_URL: address })).toThrow(
      'must be an http:// or https:// address that contains {trace_id}',
    );
  });

  it('takes the address of a trace', () => {
    const address = 'https://jaeger.example.com/trace/{trace_id}?q=1';
    expect(readConfig({ TRACE_URL: address }).trace_url).toBe(address);
  });

  it('does not show the headers for the collector to expressions', () => {
    const environment = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=marked', REGION: 'north' };
    const visible = visibleEnvironment(environment, { environment_allow: null, auth: false });
    expect(visible).toEqual({ REGION: 'north' });
  });
});
