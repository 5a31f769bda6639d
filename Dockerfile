# The tool `waystation` with its gateway, in an image without Swift:
#
#   docker build -t waystation .
#   docker run --rm waystation help
#   docker run --rm --network host -v "$PWD/kiosk:/srv" waystation gateway --rules /srv/kiosk.toml
#
# The gateway listens on the loopback interface only, so it needs the network of the host.
FROM swift:6.3-bookworm AS build
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libcurl4-openssl-dev libxml2-dev \
        libsqlite3-dev libssl-dev zlib1g-dev libbz2-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# The program contains Swift's libraries, and needs only those of Debian.
RUN swift build -c release --static-swift-stdlib --traits Gateway --product waystation \
    && install -D "$(swift build -c release --static-swift-stdlib --traits Gateway --show-bin-path)/waystation" \
        /out/waystation

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ca-certificates libcurl4 libsqlite3-0 libssl3 zlib1g libbz2-1.0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home waystation
COPY --from=build /out/waystation /usr/local/bin/waystation
USER waystation
WORKDIR /srv
ENTRYPOINT ["waystation"]
CMD ["help"]
