/**
 * A certificate for 127.0.0.1 (and not for `localhost`), signed by itself and good for nothing but tests of TLS. Its key is
 * public. Made with: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
 *   -subj /CN=postgres.test -addext subjectAltName=IP:127.0.0.1
 */
export const loopbackKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPVzoie2GlIDD53s2
bKGbS/QB7XQ6CgMcyk8vvd3FJJyhRANCAATS5kIJ/mJ95Qlb/YfhBAnGCnzZnEx+
00fQfla6uwPpmoJcl10fL76LdA3nO+8Q6pCKJFR1MXNdbAdhuiGn1YFf
-----END PRIVATE KEY-----
`;

export const loopbackCertificate = `-----BEGIN CERTIFICATE-----
MIIBlzCCAT6gAwIBAgIUCZptoMZClVAm0OK6EeOj8NkrnGwwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNcG9zdGdyZXMudGVzdDAgFw0yNjExMjIxNDUwNTBaGA8yMTI2
MTAyOTE0NTA1MFowGDEWMBQGA1UEAwwNcG9zdGdyZXMudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABNLmQgn+Yn3lCVv9h+EECcYKfNmcTH7TR9B+Vrq7A+ma
glyXXR8vvot0Dec77xDqkIokVHUxc11sB2G6IafVgV+jZDBiMB0GA1UdDgQWBBQg
wrE92lBDmAs9PIPBtbNiZK7IQzAfBgNVHSMEGDAWgBQgwrE92lBDmAs9PIPBtbNi
ZK7IQzAPBgNVHRMBAf8EBTADAQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYIKoZIzj0E
AwIDRwAwRAIgVhEdAkRDHwBybiFrgMOBl3TektwN+FRs8ZDwFbflwyoCIH/1vLav
MZWGpDUQPwLFE2aDaDvG2mKJ9qYen5yyaOCu
-----END CERTIFICATE-----
`;
