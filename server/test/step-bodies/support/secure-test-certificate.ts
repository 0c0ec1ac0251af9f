/**
 * A certificate for the host `secure.test`, signed by itself and good for nothing but tests of TLS. Its key is public.
 * Made with: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
 *   -subj /CN=secure.test -addext subjectAltName=DNS:secure.test
 */
export const secureTestKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4tiw6qQpuokqda44
FfI6JoiI/CdRs2PyKWv5Lp5wcmOhRANCAASpj/0mZahg/vU5oaVl7E1RA2OArCLY
Dj7bRYKH4oLCaiaCaOJMvyCTLqqco0f7raR+pKP6DC8uyY1fCDbNWCj9
-----END PRIVATE KEY-----
`;

export const secureTestCertificate = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUJROcO9EO0E6iTd7t+DOvbDEBnR4wCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLc2VjdXJlLnRlc3QwIBcNMjYxMTIxMTAwNjQwWhgPMjEyNjEw
MjgxMDA2NDBaMBYxFDASBgNVBAMMC3NlY3VyZS50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEqY/9JmWoYP71OaGlZexNUQNjgKwi2A4+20WCh+KCwmomgmji
TL8gky6qnKNH+62kfqSj+gwvLsmNXwg2zVgo/aNrMGkwHQYDVR0OBBYEFO7YTy+9
LU5bmMpbTaGDkcP77N8/MB8GA1UdIwQYMBaAFO7YTy+9LU5bmMpbTaGDkcP77N8/
MA8GA1UdEwEB/wQFMAMBAf8wFgYDVR0RBA8wDYILc2VjdXJlLnRlc3QwCgYIKoZI
zj0EAwIDRwAwRAIgO4UxIzUY9ISBi7AM+LNh210vqG2VBXPcyNfADlwApWYCIHWP
/gzgnrJvvpn7wjXR7Ppg4Hrqfgnb+wNKL/gWpkca
-----END CERTIFICATE-----
`;
