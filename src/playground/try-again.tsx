export function TryAgain({ onPress }: { onPress: () => void }) {
  return (
    <button type="button" className="again" onClick={onPress}>
      Try again
    </button>
  );
}
