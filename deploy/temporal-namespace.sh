#!/bin/sh
# Creates a namespace once the cluster answers: temporal-namespace.sh <name>
set -eu

until temporal operator cluster health; do
  sleep 2
done
temporal operator namespace describe --namespace "$1" ||
  temporal operator namespace create --namespace "$1" --retention 72h
