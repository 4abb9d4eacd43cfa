import { older } from './consumers.ts';
import { testAnswers } from './answers.ts';

testAnswers(older);
