/** The script for a page: `<script type="module" src="…/widget.js">` defines `<interlude-chat>`. */
import { defineInterludeChat } from './element.tsx';

defineInterludeChat();
